/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "x3d_fields.h"

/* clang-format off: one per line */
static const struct x3d_interpolator scalar = {"ScalarInterpolator", .width = 1},
				     position = {"PositionInterpolator", .width = 3},
				     orientation = {"OrientationInterpolator", .width = 4},
				     colour = {"ColorInterpolator", .width = 3, .hues = true},
				     coordinates = {"CoordinateInterpolator", .width = 3,
						    .many = true},
				     normals = {"NormalInterpolator", .width = 3, .many = true},
				     position2d = {"PositionInterpolator2D", .width = 2,
						   .level3 = true},
				     coordinates2d = {"CoordinateInterpolator2D", .width = 2,
						      .many = true, .level3 = true};

static const struct x3d_field fields[] = {
	{"Transform", "translation", &position, "0 0 0"},
	{"Transform", "rotation", &orientation, "0 0 1 0"},
	{"Transform", "scale", &position, "1 1 1"},
	{"Transform", "center", &position, "0 0 0"},
	{"Transform", "scaleOrientation", &orientation, "0 0 1 0"},
	{"Coordinate", "point", &coordinates, ""},
	{"Normal", "vector", &normals, ""},
	{"Material", "diffuseColor", &colour, "0.8 0.8 0.8"},
	{"Material", "emissiveColor", &colour, "0 0 0"},
	{"Material", "specularColor", &colour, "0 0 0"},
	{"Material", "transparency", &scalar, "0"},
	{"Material", "shininess", &scalar, "0.2"},
	{"Material", "ambientIntensity", &scalar, "0.2"},
	{"TextureCoordinate", "point", &coordinates2d, ""},
	{"TextureTransform", "center", &position2d, "0 0"},
	{"TextureTransform", "rotation", &scalar, "0"},
	{"TextureTransform", "scale", &position2d, "1 1"},
	{"TextureTransform", "translation", &position2d, "0 0"},
	{"Viewpoint", "position", &position, "0 0 10"},
	{"Viewpoint", "orientation", &orientation, "0 0 1 0"},
	{"Viewpoint", "centerOfRotation", &position, "0 0 0"},
	{"Viewpoint", "fieldOfView", &scalar, "0.78539816"},
	{"DirectionalLight", "direction", &position, "0 0 -1"},
	{"DirectionalLight", "color", &colour, "1 1 1"},
	{"DirectionalLight", "intensity", &scalar, "1"},
	{"DirectionalLight", "ambientIntensity", &scalar, "0"},
	{"PointLight", "location", &position, "0 0 0"},
	{"PointLight", "color", &colour, "1 1 1"},
	{"PointLight", "attenuation", &position, "1 0 0"},
	{"PointLight", "intensity", &scalar, "1"},
	{"PointLight", "ambientIntensity", &scalar, "0"},
	{"PointLight", "radius", &scalar, "100"},
	{"SpotLight", "location", &position, "0 0 0"},
	{"SpotLight", "direction", &position, "0 0 -1"},
	{"SpotLight", "color", &colour, "1 1 1"},
	{"SpotLight", "attenuation", &position, "1 0 0"},
	{"SpotLight", "intensity", &scalar, "1"},
	{"SpotLight", "ambientIntensity", &scalar, "0"},
	{"SpotLight", "radius", &scalar, "100"},
	{"SpotLight", "beamWidth", &scalar, NULL},
	{"SpotLight", "cutOffAngle", &scalar, NULL},
};

static const struct {
	const char *node, *field;
} containers[] = {
	{"Coordinate", "coord"},
	{"Color", "color"},
	{"ColorRGBA", "color"},
	{"Normal", "normal"},
	{"TextureCoordinate", "texCoord"},
	{"Appearance", "appearance"},
	{"Material", "material"},
	{"LineProperties", "lineProperties"},
	{"ImageTexture", "texture"},
	{"PixelTexture", "texture"},
	{"MovieTexture", "texture"},
	{"TextureTransform", "textureTransform"},
	{"Box", "geometry"},
	{"Cone", "geometry"},
	{"Cylinder", "geometry"},
	{"Sphere", "geometry"},
	{"ElevationGrid", "geometry"},
	{"Extrusion", "geometry"},
	{"IndexedFaceSet", "geometry"},
	{"IndexedLineSet", "geometry"},
	{"IndexedTriangleSet", "geometry"},
	{"LineSet", "geometry"},
	{"PointSet", "geometry"},
	{"Text", "geometry"},
	{"TriangleSet", "geometry"},
};
/* clang-format on */

const struct x3d_field *x3d_field_find(struct bytes node, struct bytes name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (bytes_equal(name, bytes_of(fields[i].name)) &&
		    bytes_equal(node, bytes_of(fields[i].node)))
			return &fields[i];
	return NULL;
}

const char *x3d_container(struct bytes node)
{
	for (size_t i = 0; i < ARRAY_SIZE(containers); i++)
		if (bytes_equal(node, bytes_of(containers[i].node)))
			return containers[i].field;
	return "children";
}
