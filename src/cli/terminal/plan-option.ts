// A plan as an option names it: by its slug, or `none`.

export function planOf(text: string): string | null {
  return text === 'none' ? null : text;
}
