// Reads an edge's config stream for the benchmark: counts and searches the lines without storing them.

import { type ClientRequest, get, type IncomingMessage } from 'node:http';

export class WatchedStream {
  lines = 0;
  bytes = 0;
  cursor: string | undefined;
  readonly #url: string;
  readonly #token: string;
  #request: ClientRequest | undefined;
  #wanted: { readonly text: string; readonly found: () => void } | undefined;
  #rest = '';

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Resolves when the answer has begun. */
  async open(): Promise<void> {
    const after = this.cursor === undefined ? '' : `?after=${this.cursor}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#token}` };
      this.#request = get(`${this.#url}/edge/v1/config${after}`, { headers, agent: false }, resolve);
      this.#request.on('error', reject);
    });
    if (response.statusCode !== 200) throw new Error(`the stream was answered with ${response.statusCode}`);
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (piece: string) => this.#read(piece));
  }

  close(): void {
    this.#request?.destroy();
    this.#rest = '';
  }

  /** Resolves with the first line from now on that has the text. */
  async until(text: string): Promise<void> {
    await new Promise<void>((found) => {
      this.#wanted = { text, found };
    });
  }

  #read(piece: string): void {
    this.bytes += piece.length;
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() as string;
    this.lines += lines.length;
    const last = lines.at(-1);
    if (last !== undefined) this.cursor = /^\{"cursor":"([^"]*)"/.exec(last)?.[1];
    const wanted = this.#wanted;
    if (wanted === undefined || !lines.some((line) => line.includes(wanted.text))) return;
    this.#wanted = undefined;
    wanted.found();
  }
}
