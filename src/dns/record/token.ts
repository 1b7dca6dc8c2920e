// One word or quoted string of zone-file text, as the lexer found it: the unit that rdata is parsed from.

/** `text` still has its escapes (`\X`, `\DDD`) and lacks the quotes. Lines and columns count from 1. */
export interface Token {
  readonly text: string;
  readonly quoted: boolean;
  readonly line: number;
  readonly column: number;
}
