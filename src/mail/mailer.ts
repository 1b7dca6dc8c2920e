// Sends mail through one SMTP server (RFC 5321). A password is sent only over TLS, except to loopback.

import { createTransport } from 'nodemailer';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Rejects with a MailFault. */
  send(letter: Letter): Promise<void>;
  close(): void;
}

/** Says why a mail was not accepted, without its content or a password. */
export class MailFault extends Error {
  override readonly name = 'MailFault';
  /** True if the server will never accept the mail, so that retrying does not help. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

const TIMEOUT_MS = 15_000;
const CONNECTIONS = 4;

export function openMailer(smtpUrl: string, from: string): Mailer {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLoopback = /^(localhost|127\..*|::1)$/.test(host);
  const isSecure = protocol === 'smtps:';
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    host,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    requireTLS: !isSecure && !isLoopback,
    ignoreTLS: isLoopback && !isSecure,
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      try {
        await transport.sendMail({
          from: { name: 'Zonefleet', address: from },
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'Auto-Submitted': 'auto-generated' }, // RFC 3834 §5
        });
      } catch (error) {
        const { code, responseCode } = error as { code?: string; responseCode?: number };
        const said = responseCode === undefined ? '' : `, server response ${responseCode}`;
        // RFC 5321 §4.2.1: 5yz is final. Rejected credentials are not final, because the operator can fix them.
        const isFinal = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
        throw new MailFault(`the mail was not accepted (${code ?? 'unknown'}${said})`, isFinal);
      }
    },
    close: () => transport.close(),
  };
}
