// How far a follower of a domain's events has got. Everything that is told has its row and is written under the domain's lock,
// so the ids of one domain's rows grow in the order of the commits.

export interface EventCursor {
  readonly change: number;
  readonly check: number;
  /** How often that check was seen to have the same outcome again. */
  readonly repeated: number;
  readonly verification: number;
}

const TEXT = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})\.(0|[1-9]\d{0,8})-(0|[1-9]\d{0,14})$/;
export const MAX_CURSOR_CHARACTERS = 64;

export function encodeEventCursor({ change, check, repeated, verification }: EventCursor): string {
  return `${change}-${check}.${repeated}-${verification}`;
}

/** Undefined: it is no cursor of ours. */
export function decodeEventCursor(text: string): EventCursor | undefined {
  const found = TEXT.exec(text);
  if (found === null) return undefined;
  const [change, check, repeated, verification] = found.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return { change, check, repeated, verification };
}

/** There is something behind `cursor` at `head`. */
export function isBehind(cursor: EventCursor, head: EventCursor): boolean {
  return (
    cursor.change < head.change || cursor.verification < head.verification || isCheckBehind(cursor, head)
  );
}

export function isCheckBehind(cursor: EventCursor, head: Pick<EventCursor, 'check' | 'repeated'>): boolean {
  return cursor.check < head.check || (cursor.check === head.check && cursor.repeated < head.repeated);
}

/** The further of both, in everything. */
export function furtherOf(a: EventCursor, b: EventCursor): EventCursor {
  const { check, repeated } = isCheckBehind(a, b) ? b : a;
  return {
    change: Math.max(a.change, b.change),
    check,
    repeated,
    verification: Math.max(a.verification, b.verification),
  };
}

/** The cursor knows of what the database does not have: that was restored, or the cursor is another domain's. */
export function isBeyond(cursor: EventCursor, head: EventCursor): boolean {
  return (
    cursor.change > head.change ||
    cursor.verification > head.verification ||
    cursor.check > head.check ||
    (cursor.check === head.check && cursor.repeated > head.repeated)
  );
}
