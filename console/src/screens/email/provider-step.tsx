// Selects the provider of the mailboxes, and other services that send mail.

import { TextArea } from '../../parts/field.tsx';
import { email as say } from '../../words/email.ts';
import { useDomain } from '../domain/domain-here.ts';
import { currentServers, serversProblem } from './answers.ts';
import type { StepProps } from './email-screen.tsx';
import { PROVIDERS, providerOfServer } from './providers.ts';
import { RadioField } from './radio-field.tsx';

export function ProviderStep({ rows, answers, set, isTried }: StepProps) {
  const { domain } = useDomain();
  const { mailbox, senders, ownServers } = answers;
  const [host] = currentServers(rows);
  const problem = serversProblem(answers, domain.name);
  return (
    <>
      <p>{say.text}</p>
      <RadioField
        legend={say.mailboxes}
        isGrid
        value={mailbox}
        problem={isTried && mailbox === '' ? say.chooseOne : undefined}
        choices={[
          ...(host === undefined
            ? []
            : [
                {
                  value: 'keep',
                  label: say.keep,
                  isWide: true,
                  hint: say.current(providerOfServer(host)?.name ?? host),
                },
              ]),
          ...PROVIDERS.filter(({ isSender }) => isSender !== true).map(({ id, name }) => ({
            value: id,
            label: name,
          })),
          { value: 'own', label: say.own, isWide: true },
          { value: 'none', label: say.none, hint: say.noneHint, isWide: true },
        ]}
        onChange={(value) => set({ mailbox: value })}
      />
      {mailbox === 'own' && (
        <TextArea
          label={say.ownServers}
          hint={say.ownServersHint}
          placeholder={say.ownServersExample}
          rows={3}
          dir="ltr"
          spellcheck={false}
          class="rec-zone"
          value={ownServers}
          problem={isTried && problem !== undefined ? say.problems[problem] : undefined}
          onInput={(event) => set({ ownServers: event.currentTarget.value })}
        />
      )}
      {mailbox !== 'none' && (
        <fieldset class="mail-choices">
          <legend class="label">{say.senders}</legend>
          <p class="quiet">{say.sendersHint}</p>
          <div class="mail-grid">
            {PROVIDERS.filter(({ isSender }) => isSender === true).map(({ id, name }) => (
              <label key={id}>
                <input
                  type="checkbox"
                  checked={senders.includes(id)}
                  onChange={({ currentTarget: { checked } }) =>
                    set({ senders: checked ? [...senders, id] : senders.filter((each) => each !== id) })
                  }
                />
                <span>{name}</span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
    </>
  );
}
