// Finds the metrics that an expression of Prometheus reads.

/** Metrics that Prometheus itself makes. */
const BUILT_IN = new Set(['up', 'ALERTS']);
const SELECTOR = /\b((?:zonefleet|process)[a-z0-9_:]*|up|ALERTS)\b(\{[^}]*\})?/g;

/** Returns the selectors of the expression, such as `zonefleet_queries_total{rcode="REFUSED"}`. */
export function selectorsIn(expr: string): string[] {
  const withoutLabelLists = expr.replaceAll(/\b(by|on|without|ignoring) *\([^)]*\)/g, '');
  return [...withoutLabelLists.matchAll(SELECTOR)]
    .filter(([, name = '']) => !BUILT_IN.has(name))
    .map(([selector]) => selector);
}

export function metricsIn(expr: string): string[] {
  return selectorsIn(expr).map((selector) => selector.replace(/\{.*/, ''));
}
