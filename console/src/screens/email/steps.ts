// The steps of the email setup, and which of them are complete.

import {
  type Answers,
  addressProblem,
  policyServerProblem,
  providerFields,
  serversProblem,
  tlsAddressProblem,
} from './answers.ts';

export type StepName = 'provider' | 'values' | 'spf' | 'dmarc' | 'transport' | 'review';

export function stepsOf({ mailbox }: Answers): StepName[] {
  if (mailbox === 'none') return ['provider', 'review'];
  return ['provider', 'values', 'spf', 'dmarc', 'transport', 'review'];
}

export function isStepDone(step: StepName, answers: Answers, domain: string): boolean {
  switch (step) {
    case 'provider':
      return answers.mailbox !== '' && serversProblem(answers, domain) === undefined;
    case 'values':
      return providerFields(answers, domain).every(({ problem }) => problem === undefined);
    case 'dmarc':
      return answers.dmarc === 'keep' || addressProblem(answers.dmarcAddress) === undefined;
    case 'transport':
      return (
        tlsAddressProblem(answers.tlsAddress) === undefined &&
        policyServerProblem(answers, domain) === undefined
      );
    default:
      return true;
  }
}
