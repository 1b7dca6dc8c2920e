// Plain HTML as Markdown, for who asks for text/markdown: headings, paragraphs, links, lists, emphasis, code.

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
};

export function markdownOf(html: string): string {
  const body = /<body\b[^>]*>([\s\S]*)<\/body>/i.exec(html)?.[1] ?? html;
  const text = body
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/<(script|style|noscript|template|nav)\b[\s\S]*?<\/\1>/gi, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<h([1-6])\b[^>]*>([\s\S]*?)<\/h\1>/gi, (_, level: string, inner: string) =>
      block(`${'#'.repeat(Number(level))} ${inner.trim()}`),
    )
    .replaceAll(/<a\b[^>]*\bhref="([^"]*)"[^>]*>([\s\S]*?)<\/a>/gi, '[$2]($1)')
    .replaceAll(/<(strong|b)\b[^>]*>([\s\S]*?)<\/\1>/gi, '**$2**')
    .replaceAll(/<(em|i)\b[^>]*>([\s\S]*?)<\/\1>/gi, '*$2*')
    .replaceAll(/<code\b[^>]*>([\s\S]*?)<\/code>/gi, '`$1`')
    .replaceAll(/<li\b[^>]*>/gi, '\n- ')
    .replaceAll(/<br\b[^>]*>/gi, '\n')
    .replaceAll(/<\/?(p|div|ul|ol|section|article|main|header|footer|blockquote|table|tr)\b[^>]*>/gi, '\n\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
  const lines = text.split('\n').map((line) => line.trim());
  return `${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

function block(text: string): string {
  return `\n\n${text}\n\n`;
}

/** Whether Markdown is wanted as much as HTML (RFC 9110 §12.5.1). */
export function wantsMarkdown(accept: string | undefined): boolean {
  const quality = (type: string) => {
    const range = (accept ?? '')
      .split(',')
      .find((each) => each.trim().split(';')[0]?.trim().toLowerCase() === type);
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1);
  };
  return quality('text/markdown') > 0 && quality('text/markdown') >= quality('text/html');
}
