// Parses a plan option: a slug, or `none`.

export function planOf(text: string): string | null {
  return text === 'none' ? null : text;
}
