// Relative and full names of records.

import { readableName } from './punycode.ts';

/** Returns `@` for the domain itself. */
export function relativeName(name: string, domain: string): string {
  const readable = (text: string) => readableName(text.trim().toLowerCase().replace(/\.$/, ''));
  const [own, apex] = [readable(name), readable(domain)];
  if (own === '' || own === '@' || own === apex) return '@';
  return own.endsWith(`.${apex}`) ? own.slice(0, -apex.length - 1) : own;
}

/** Expands a relative name. A name outside the domain that ends in a dot is returned unchanged. */
export function fullNameOf(name: string, domain: string): string {
  const [relative, apex] = [relativeName(name, domain), readableName(domain)];
  if (relative === '@') return apex;
  const isOutside = name.trim().endsWith('.') && relative === relativeName(name, '');
  return isOutside ? readableName(name.trim()) : `${relative}.${apex}`;
}
