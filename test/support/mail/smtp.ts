// A real SMTP server on loopback that stores accepted mails.

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from '../tests/until.ts';

interface TakenMail {
  readonly to: string;
  readonly from: string;
  /** As received. */
  readonly raw: string;
  readonly text: string;
}

export interface TestSmtp {
  readonly url: string;
  readonly port: number;
  readonly taken: TakenMail[];
  /** Returns the token of the link in the newest mail to this address. */
  tokenFor(address: string): Promise<string>;
  stop(): Promise<void>;
}

/** `refuse` returns the code with which a mail to this address is rejected. */
export async function startSmtp(
  options: SMTPServerOptions & { readonly refuse?: (address: string) => number | undefined } = {},
): Promise<TestSmtp> {
  const taken: TakenMail[] = [];
  const { refuse = () => undefined, ...rest } = options;
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    logger: false,
    onRcptTo({ address }, _session, done) {
      const code = refuse(address);
      done(code === undefined ? null : Object.assign(new Error('refused here'), { responseCode: code }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const { mailFrom, rcptTo } = envelope;
        for (const { address } of rcptTo) {
          taken.push({
            to: address.toLowerCase(),
            from: mailFrom === false ? '' : mailFrom.address,
            raw,
            text: decodeText(raw),
          });
        }
        done();
      });
    },
    ...rest,
  });
  server.on('error', () => {});
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () => {
      resolve((listening.address() as { port: number }).port);
    });
  });
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    taken,
    tokenFor: (address) =>
      until(() => {
        const mail = taken.findLast(({ to }) => to === address.toLowerCase());
        return mail && /#[\w-]+=((?:lnk|inv)_\w+)/.exec(mail.text)?.[1];
      }, `a mail to ${address}`),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Decodes quoted-printable, as far as our mails need it (RFC 2045 §6.7). */
function decodeText(raw: string): string {
  const body = raw.slice(raw.indexOf('\r\n\r\n') + 4);
  if (!/quoted-printable/i.test(raw)) return body.replaceAll('\r\n', '\n');
  return body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('\r\n', '\n');
}
