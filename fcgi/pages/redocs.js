/* SPDX-License-Identifier: ISC */
// Starts Redoc.  Its search needs a worker made from a blob, which the content security policy forbids.
const page = document.getElementById('page');
Redoc.init(page.dataset.document, { disableSearch: true, nativeScrollbars: true }, page);
