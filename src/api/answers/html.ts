// HTML pages for people. Text from other people is escaped where it is inserted. The Content-Security-Policy prevents
// pages from running or loading anything.

import { createHash } from 'node:crypto';

/** A piece of a page in which everything is already escaped. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = string | number | Html | readonly Html[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function textOf(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('');
  return String(piece).replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] as string);
}

/** The literal text is trusted. Each `${…}` is escaped unless it is an `Html` piece itself. */
export function html(ours: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(
    ours.map((text, i) => text + (i < pieces.length ? textOf(pieces[i] as Piece) : '')).join(''),
  );
}

/** Isolates the text direction of a text from other people. Line breaks are preserved. */
export function foreign(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** `1,250,000 rials`. */
export function rials(amount: number): string {
  return `${amount.toLocaleString('en-US')} rials`;
}

const STYLE =
  'body{font:16px/1.5 sans-serif;max-width:44em;margin:2em auto;padding:0 1em}bdi{white-space:pre-wrap}table{border-collapse:collapse;width:100%;margin:1em 0}th,td{text-align:left;padding:.3em .6em;border-bottom:1px solid #bbb}.amount{text-align:right}@media print{body{margin:0}}';

/** Allows only the one style, by its hash. Forbids scripts, images, fonts, forms and frames. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function page(title: string, body: Html): Iterable<string> {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>`.text.split('\n');
}
