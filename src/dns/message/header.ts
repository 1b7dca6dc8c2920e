// The header of a message, which has the same format in queries and responses (RFC 1035 §4.1.1).

export const HEADER_OCTETS = 12;

/** RFC 1035 §4.1.1, RFC 1996 §3.2, RFC 2136 §1.3. */
export const OPCODE = { QUERY: 0, NOTIFY: 4, UPDATE: 5 } as const;
