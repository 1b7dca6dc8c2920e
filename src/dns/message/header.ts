// Size of a message's header, which has the same format in queries and responses (RFC 1035 §4.1.1).

export const HEADER_OCTETS = 12;
