// Hands jobs to observers, and takes their results (docs/rules.md "Vantage points").

import { type JsonEvidence, readJsonName } from '../../checks/delegation/evidence-json.ts';
import { saveVantageAnswer, takeVantageJobs } from '../../store/vantage/vantage-jobs.ts';
import { noteVantageSeen } from '../../store/vantage/vantages.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { waitForVantageJob } from '../actions/wait-for-vantage-job.ts';
import { invalid, Problem } from '../answers/problem.ts';
import { route, vantage } from '../calls/route.ts';
import { Jobs, JobsWanted, Taken, VantageAnswer } from '../schemas/vantage.ts';

const tag = 'Observers';
const ANSWER_BYTES = 256 * 1024;
const WANTED_BYTES = 1024;

export const takeJobs = route(vantage, {
  method: 'POST',
  path: '/vantage/v1/jobs',
  operationId: 'takeVantageJobs',
  audit: { none: 'observers take work; what they see is in the checks' },
  tag,
  summary: 'Takes the jobs of this observer; waits for one.',
  description:
    'Each job is handed out once. The request is signed with the key of the observer; an API key does not count.',
  waits: true,
  bodyBytes: WANTED_BYTES,
  body: JobsWanted,
  response: Jobs,
  async run({ api: { db }, vantage, address, gone, body: { max, waitSeconds } }) {
    await noteVantageSeen(db, vantage, outsideAddress(address));
    let jobs = await takeVantageJobs(db, vantage, max);
    if (jobs.length === 0 && waitSeconds > 0) {
      const waited = await waitForVantageJob(db, vantage, waitSeconds * 1000, gone);
      if (waited === 'too_many') return new Problem(429, 'too many calls of this observer wait', RETRY);
      if (waited === 'there') jobs = await takeVantageJobs(db, vantage, max);
    }
    return {
      jobs: jobs.map(({ id, name, deadline, fresh, thorough }) => ({
        id,
        name: printWithoutDot(name),
        deadline: deadline.toISOString(),
        fresh,
        thorough,
      })),
    };
  },
});

const RETRY = { headers: { 'Retry-After': '1' } };

export const answerVantageJob = route(vantage, {
  method: 'POST',
  path: '/vantage/v1/answers',
  operationId: 'answerVantageJob',
  audit: { none: 'observers report; what they see is in the checks' },
  tag,
  summary: 'Answers a job.',
  description:
    'Taken once, from the observer that the job was made for, before its deadline, for its name. Anything else is dropped and counted.',
  bodyBytes: ANSWER_BYTES,
  body: VantageAnswer,
  response: Taken,
  async run({ api: { db, countVantageAnswer }, vantage, body: { id, name, evidence } }) {
    const nameText = readJsonName(name);
    if (nameText === undefined) return invalid([{ field: 'name', error: 'must be a domain name' }]);
    if (evidence.domain !== nameText)
      return invalid([{ field: 'evidence.domain', error: 'must be the name of the answer' }]);
    const outcome = await saveVantageAnswer(db, {
      id,
      vantage,
      nameText,
      evidence: evidence as JsonEvidence, // what is absent there is absent in JSON too
    });
    countVantageAnswer?.(outcome);
    return outcome === 'taken' ? { taken: true } : { taken: false, reason: outcome };
  },
});

/** Returns null if the observer connects through a proxy on this machine, whose address does not show where it is. */
function outsideAddress(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return /^127\.|^::1$/.test(plain) ? null : plain;
}
