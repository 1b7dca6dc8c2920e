// Reads a stream of a domain's events as a browser does, by the rules of server-sent events (HTML "Server-sent
// events").

import { request as ask, type ClientRequest, type IncomingMessage } from 'node:http';
import { until } from '../tests/until.ts';

interface SeenEvent {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests access any member
  readonly data: any;
}

export class EventReader {
  readonly #request: ClientRequest;
  readonly #response: Promise<IncomingMessage>;
  readonly events: SeenEvent[] = [];
  comments = 0;
  status: number | undefined;
  headers: IncomingMessage['headers'] = {};
  text = '';
  isOver = false;

  /** If `reads` is false, nothing of the response is read. */
  constructor(url: string, headers: Record<string, string>, { reads = true, method = 'GET' } = {}) {
    this.#request = ask(url, { headers, agent: false, method });
    this.#response = new Promise((resolve, reject) => {
      this.#request.once('response', resolve);
      this.#request.once('error', reject);
    });
    this.#response.then(
      (response) => {
        this.status = response.statusCode;
        this.headers = response.headers;
        response.once('close', () => {
          this.isOver = true;
        });
        response.on('error', () => {});
        if (!reads) return void response.pause();
        let rest = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          this.text += text;
          const frames = (rest + text).split('\n\n');
          rest = frames.pop() as string;
          for (const frame of frames) this.#take(frame);
        });
      },
      () => {
        this.isOver = true;
      },
    );
    this.#request.on('error', () => {});
    this.#request.end();
  }

  #take(frame: string): void {
    const lines = frame.split('\n');
    if (lines.every((line) => line.startsWith(':'))) this.comments++;
    const field = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field('data');
    if (data === undefined) return;
    this.events.push({ event: field('event') ?? '', id: field('id'), data: JSON.parse(data) });
  }

  async answered(): Promise<number> {
    return (await this.#response).statusCode as number;
  }

  /** Returns the first event with this name, or the first that matches. */
  async find(event: string, fits: (data: SeenEvent['data']) => boolean = () => true): Promise<SeenEvent> {
    return await until(
      () => this.events.find((seen) => seen.event === event && fits(seen.data)),
      () => `${event} in ${this.events.map((seen) => seen.event).join(' ')}${this.isOver ? ' (over)' : ''}`,
      20_000,
    );
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id;
  }

  stop(): void {
    this.#request.destroy();
  }
}
