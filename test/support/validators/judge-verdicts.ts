// Compares what a validator says with what it has to say.

import { printName } from '../../../src/dns/name.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ExpectedVerdict, Security, Validator, Verdict } from './validator.ts';

/** What is not as expected, a line for each. */
export function unexpected(
  { name: validator }: Pick<Validator, 'name'>,
  questions: readonly ExpectedVerdict[],
  verdicts: readonly Verdict[],
): string[] {
  return questions.flatMap(({ name, type, row, rcode, security, answer }, i) => {
    const got = verdicts[i] as Verdict;
    const asked = `${validator}: ${printName(name)} ${typeMnemonic(type)} [${row}]`;
    const isSecure = got.security === security || isLenient(validator, security, got.security);
    if (isSecure && (got.rcode === rcode || got.rcode === '')) {
      const isSame = answer === undefined || got.answer === undefined || answer.join() === got.answer.join();
      return isSame ? [] : [`${asked}: ${got.answer?.join()}, not ${answer?.join()}`];
    }
    const why = got.reason === undefined ? '' : ` (${got.reason})`;
    return [`${asked}: ${got.rcode} ${got.security}${why}, not ${rcode} ${security}`];
  });
}

/** delv says of opt-out proofs that they are in order, and not that AD must stay clear (RFC 5155 §9.2). */
function isLenient(validator: string, wanted: Security, got: Security): boolean {
  return validator === 'delv' && wanted === 'insecure' && got === 'secure';
}
