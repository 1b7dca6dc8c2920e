// Pages for people, as HTML. Text of other people is escaped where it is inserted, and the Content-Security-Policy lets nothing
// run or load.

import { createHash } from 'node:crypto';

/** A piece of a page in which everything is escaped. */
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

/** Text between the tags is ours; each `${…}` is escaped, unless it is a piece itself. */
export function html(ours: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(
    ours.map((text, i) => text + (i < pieces.length ? textOf(pieces[i] as Piece) : '')).join(''),
  );
}

/** A text of others, which cannot turn the direction of what stands around it. Its lines stay lines. */
export function foreign(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** `1,250,000 rials`. */
export function rials(amount: number): string {
  return `${amount.toLocaleString('en-US')} rials`;
}

const STYLE =
  'body{font:16px/1.5 sans-serif;max-width:44em;margin:2em auto;padding:0 1em}bdi{white-space:pre-wrap}table{border-collapse:collapse;width:100%;margin:1em 0}th,td{text-align:left;padding:.3em .6em;border-bottom:1px solid #bbb}.amount{text-align:right}@media print{body{margin:0}}';

/** The one style is named by its hash; no script, image, font, form or frame. */
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
