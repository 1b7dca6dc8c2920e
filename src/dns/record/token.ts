// One word or quoted string of zone-file text, as read by the lexer. Rdata is parsed from tokens.

/** `text` still has its escapes (`\X`, `\DDD`), but not its quotes. Lines and columns count from 1. */
export interface Token {
  readonly text: string;
  readonly quoted: boolean;
  readonly line: number;
  readonly column: number;
}
