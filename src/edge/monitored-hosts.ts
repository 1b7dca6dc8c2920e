// Determines which hosts count for a domain's uptime: those whose record, by the DNS rules, has `monitor`.

/**
 * Returns the names of records that may apply to the host, closest first. `apex`: the domain's apex. Both names have no
 * trailing dot.
 */
export function recordNamesFor(host: string, apex: string): string[] {
  if (host !== apex && !host.endsWith(`.${apex}`)) return [];
  const names = [host];
  for (let name = host; name !== apex; ) {
    name = name.slice(name.indexOf('.') + 1);
    names.push(`*.${name}`);
  }
  return names;
}

/** `monitored`: for each proxied name, true if it has `monitor`. */
export function isMonitored(host: string, apex: string, monitored: ReadonlyMap<string, boolean>): boolean {
  const name = recordNamesFor(host, apex).find((each) => monitored.has(each));
  return name !== undefined && monitored.get(name) === true;
}
