/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page, as src/view/page/html.c refers to it. */
	.section .rodata
	.global view_html_page, view_html_page_size
	.balign 8
view_html_page_size:
	.quad end - view_html_page
view_html_page:
	.incbin PAGE
end:
	.section .note.GNU-stack, "", @progbits
