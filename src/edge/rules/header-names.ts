// Names of HTTP header fields in rules: tokens (RFC 9110 §5.6.2) in lower case.

export const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
export const NOT_A_HEADER = 'expected the name of a header in lower case';
