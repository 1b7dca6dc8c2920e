// Times as members of answers: RFC 3339 in UTC, absent if there is none.

export function moments<K extends string>(times: Readonly<Record<K, Date | null>>): { [M in K]?: string } {
  const set = Object.entries<Date | null>(times).filter(
    (entry): entry is [string, Date] => entry[1] !== null,
  );
  return Object.fromEntries(set.map(([name, time]) => [name, time.toISOString()])) as { [M in K]?: string };
}
