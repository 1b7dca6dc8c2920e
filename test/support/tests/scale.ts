// Scale of a proof: complete in `npm run prove`, and a part that takes seconds in `npm test`.

export const proves = process.env.ZONEFLEET_PROVE === '1';

export function scale(full: number, reduced: number): number {
  return proves ? full : reduced;
}
