// Routes of a domain's certificate (docs/api.md "Certificates").

import type { z } from 'zod';
import { judgePlan } from '../../api/actions/judge-plan.ts';
import { invalid, notFound, Problem, problem } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { domain, route } from '../../api/calls/route.ts';
import { printSsl } from '../../api/print/print-ssl.ts';
import { Message } from '../../api/schemas/fields.ts';
import { Ssl, SslUpload } from '../../api/schemas/ssl.ts';
import { GATES } from '../../billing/gates.ts';
import { judgeCertificate } from '../../edge/certificates/judge-certificate.ts';
import { rootSubjects } from '../../process/root-subjects.ts';
import { loadSsl } from '../../store/certificates/load-ssl.ts';
import { CertificatesUnavailable } from '../../store/certificates/open-certificate.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import {
  type ChangedCertificate,
  removeCertificate,
  requestCertificateFor,
  uploadCertificate,
} from './sql.ts';

const tag = 'Certificates';
const path = '/domains/{domain}/ssl';
const MAX_BYTES = 64 * 1024;

const getSsl = route(domain('domain.view'), {
  method: 'GET',
  path,
  operationId: 'getSsl',
  tag,
  summary: 'The certificate of a domain, and the progress of its order.',
  response: Ssl,
  run: answer,
});

const issueSsl = route(domain('ssl.manage'), {
  method: 'POST',
  path: '/domains/{domain}/ssl/issue',
  operationId: 'issueSsl',
  audit: 'ssl.issue',
  tag,
  summary: 'Orders a certificate, which then renews automatically.',
  description:
    'The certificate is for the domain and `*.` below it, plus one wildcard for each deeper level that has proxied records, up to 100 names. In external mode it is for the proxied names that resolve to the edges. The response does not wait for the certificate: `status` is `pending`. The names are validated by temporary TXT records in the zone, or in external mode over HTTP at the edges. An uploaded certificate stays until the new one is issued. If an order is already in progress, no other one is made.',
  response: Ssl,
  problems: ['wrong_state', 'ssl_limited', 'ssl_unavailable'],
  async run(call) {
    if (call.api.issuesCertificates !== true)
      return problem(
        'ssl_unavailable',
        'this service issues no certificates: the operator has not configured a certificate authority',
      );
    const changed = await orUnavailable(requestCertificateFor(call.api.db, orderOf(call)));
    if (changed instanceof Problem) return changed;
    const refusal = refusalOf(changed);
    if (refusal !== undefined) return refusal;
    if (changed.kind === 'changed') call.audit({});
    else call.audit();
    return await answer(call);
  },
});

const uploadSsl = route(domain('ssl.manage'), {
  method: 'POST',
  path,
  operationId: 'uploadSsl',
  audit: 'ssl.upload',
  tag,
  summary: 'Uploads a certificate.',
  description:
    'The certificate replaces the existing one, and ends an order that is in progress. The first certificate is that of the domain, followed by those of its issuers, up to a root that browsers trust or that is included. All its names must lie within the domain. Keys are RSA of 2048 to 8192 bits, or EC on P-256, P-384 or P-521.',
  body: SslUpload,
  bodyBytes: MAX_BYTES,
  response: Ssl,
  problems: ['plan_feature', 'ssl_unavailable'],
  async run(call) {
    const { api, domain, body } = call;
    const refused = judgePlan(GATES.certificates, domain.plan);
    if (refused !== undefined) return refused;
    const judgement = judgeCertificate({
      certificate: body.certificate,
      privateKey: body.private_key,
      domain: printWithoutDot(domain.name),
      now: new Date(),
      roots: rootSubjects(),
    });
    if (judgement.kind === 'refused')
      return invalid(judgement.problems.map(({ field, message }) => ({ field, error: message })));
    const { judged } = judgement;
    const changed = await orUnavailable(uploadCertificate(api.db, { ...orderOf(call), judged }));
    if (changed instanceof Problem) return changed;
    const refusal = refusalOf(changed);
    if (refusal !== undefined) return refusal;
    const { names, issuer, fingerprint, notAfter } = judged;
    call.audit({ after: { names, issuer, fingerprint, not_after: notAfter.toISOString() } });
    return await answer(call);
  },
});

const deleteSsl = route(domain('ssl.manage'), {
  method: 'DELETE',
  path,
  operationId: 'deleteSsl',
  audit: 'ssl.delete',
  tag,
  summary: 'Removes the certificate of a domain.',
  description: 'Also ends an order that is in progress. The certificate is no longer renewed.',
  response: Message,
  async run(call) {
    const before = (await loadSsl(call.api.db, [call.domain.id])).get(call.domain.id)?.certificate;
    const changed = await removeCertificate(call.api.db, orderOf(call));
    if (changed.kind === 'absent') return notFound('certificate');
    const refusal = refusalOf(changed);
    if (refusal !== undefined) return refusal;
    call.audit({ before: { names: before?.names ?? [], fingerprint: before?.fingerprint } });
    return { message: 'certificate removed' };
  },
});

export const SSL_ROUTES = [getSsl, issueSsl, uploadSsl, deleteSsl];

type AnyCall = CallOf<'domain'>;

function orderOf({ domain }: AnyCall) {
  return { domainId: domain.id, ownerId: domain.accountId };
}

async function answer({ api, domain }: Pick<AnyCall, 'api' | 'domain'>): Promise<z.input<typeof Ssl>> {
  return printSsl((await loadSsl(api.db, [domain.id])).get(domain.id));
}

const RETRY_SECONDS = 600;

function refusalOf(changed: ChangedCertificate): Problem | undefined {
  if (changed.kind === 'changed' || changed.kind === 'unchanged') return undefined;
  if (changed.kind === 'absent') return notFound('domain');
  const { code, message, retryAfterSeconds } = changed;
  if (code !== 'ssl_limited') return problem(code, message);
  const headers = { 'Retry-After': String(retryAfterSeconds ?? RETRY_SECONDS) };
  return new Problem(429, message, { code, headers });
}

function unavailable(message: string): Problem {
  const headers = { 'Retry-After': String(RETRY_SECONDS) };
  return new Problem(503, message, { code: 'ssl_unavailable', headers });
}

async function orUnavailable<T>(work: Promise<T>): Promise<T | Problem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CertificatesUnavailable) return unavailable(error.message);
    throw error;
  }
}
