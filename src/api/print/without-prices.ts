// A reseller's prices are its own: its clients see none of ours (docs/rules.md "Plans").

/** The same without its price members, at any depth. A price that is missing is not told; it is never "free". */
export function withoutPrices<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutPrices) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !/price/i.test(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutPrices(member)])) as T;
}
