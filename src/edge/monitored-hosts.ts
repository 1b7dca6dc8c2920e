// Which hosts of a domain count for its uptime: those whose record, by the rules of DNS, has `monitor`.

/** The names of records that may be the host's, the nearest first. `apex`: of the domain, as the host without the final dot. */
export function recordNamesFor(host: string, apex: string): string[] {
  if (host !== apex && !host.endsWith(`.${apex}`)) return [];
  const names = [host];
  for (let name = host; name !== apex; ) {
    name = name.slice(name.indexOf('.') + 1);
    names.push(`*.${name}`);
  }
  return names;
}

/** `monitored`: of each proxied name whether it has `monitor`. */
export function isMonitored(host: string, apex: string, monitored: ReadonlyMap<string, boolean>): boolean {
  const name = recordNamesFor(host, apex).find((each) => monitored.has(each));
  return name !== undefined && monitored.get(name) === true;
}
