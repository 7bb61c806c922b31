/* SPDX-License-Identifier: ISC */
/* Texts that agentgraph-fcgi has inside (made by build-aux/embed-text). */
#ifndef AGENTGRAPH_FCGI_TEXTS_H
#define AGENTGRAPH_FCGI_TEXTS_H

extern const char text_document_json[];   /* the frame of the OpenAPI document */
extern const char text_operations_json[]; /* what it says of each route */
extern const char text_components_json[]; /* schemas, parameters, headers, errors */
extern const char text_docs_js[];         /* starts the page at DOCS_PATH */
extern const char text_redocs_js[];       /* starts the page at REDOCS_PATH */
extern const char text_reference_js[];    /* both pages where there are no others */
extern const char text_reference_css[];

#endif
