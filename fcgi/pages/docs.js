/* SPDX-License-Identifier: ISC */
// Starts Swagger UI.  A script of its own, because the content security policy lets none run inside a page.
const page = document.getElementById('page');
SwaggerUIBundle({
	url: page.dataset.document,
	domNode: page,
	presets: [SwaggerUIBundle.presets.apis],
	layout: 'BaseLayout',
	deepLinking: true,
	validatorUrl: null,
});
