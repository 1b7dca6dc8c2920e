// MTA-STS and TLS reports.

import { CopyButton } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { email as say } from '../../words/email.ts';
import { useDomain } from '../domain/domain-here.ts';
import { policyServerProblem, tlsAddressProblem } from './answers.ts';
import type { StepProps } from './email-screen.tsx';
import { RadioField } from './radio-field.tsx';
import { WarningNotes } from './warning-notes.tsx';

export function TransportStep({ answers, plan, set, isTried }: StepProps) {
  const { domain } = useDomain();
  const { mtaSts, mtaStsHost, tlsAddress } = answers;
  const serverProblem = policyServerProblem(answers, domain.name);
  const addressProblem = tlsAddressProblem(tlsAddress);
  return (
    <>
      <h3>{say.transportTitle}</h3>
      <p>{say.transportText}</p>
      <RadioField
        legend={say.mtaSts}
        value={mtaSts}
        choices={(['keep', 'testing', 'enforce'] as const).map((value) => ({
          value,
          label: say.mtaStsModes[value],
        }))}
        onChange={(value) => set({ mtaSts: value as typeof mtaSts })}
      />
      {plan.policyFile !== undefined && (
        <>
          <TextField
            label={say.mtaStsHost}
            hint={say.mtaStsHostHint(domain.name_unicode)}
            dir="ltr"
            autocomplete="off"
            spellcheck={false}
            value={mtaStsHost}
            problem={isTried && serverProblem !== undefined ? say.problems[serverProblem] : undefined}
            onInput={(event) => set({ mtaStsHost: event.currentTarget.value })}
          />
          <PolicyFile text={plan.policyFile} />
        </>
      )}
      <WarningNotes plan={plan} kinds={['policyListsServers']} />
      <TextField
        label={say.tlsAddress}
        hint={say.tlsAddressHint}
        dir="ltr"
        autocomplete="email"
        spellcheck={false}
        value={tlsAddress}
        problem={isTried && addressProblem !== undefined ? say.problems[addressProblem] : undefined}
        onInput={(event) => set({ tlsAddress: event.currentTarget.value })}
      />
    </>
  );
}

/** The policy that the person must serve. */
export function PolicyFile({ text }: { readonly text: string }) {
  const { domain } = useDomain();
  return (
    <div class="note warn">
      <p>{say.policyText(domain.name)}</p>
      <pre dir="ltr">{text}</pre>
      <CopyButton text={text} label={say.policyLabel} />
    </div>
  );
}
