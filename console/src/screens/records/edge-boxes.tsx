// Proxy settings of a record: whether it is proxied, and how the edge connects to the origin.

import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { records } from '../../words/records.ts';
import type { Field, Typed } from './typed.ts';

const SCHEMES = ['Default', 'Auto', 'Https', 'Http'] as const;

interface EdgeProps {
  readonly typed: Typed;
  readonly problemOf: (field: Field) => string | undefined;
  readonly set: (change: Partial<Typed>) => void;
}

export function EdgeBoxes({ typed, problemOf, set }: EdgeProps) {
  const say = records;
  return (
    <div class="rec-edge">
      <CheckField
        label={say.proxiedLabel}
        hint={say.proxiedHint}
        checked={typed.proxied}
        onChange={(event) => set({ proxied: event.currentTarget.checked })}
      />
      {problemOf('proxied') !== undefined && (
        <p class="problem" role="alert">
          {problemOf('proxied')}
        </p>
      )}
      {typed.proxied && (
        <details>
          <summary>{say.edge}</summary>
          <div class="rec-parts">
            <SelectField
              label={say.fields.scheme}
              choices={SCHEMES.map((value) => ({ value, label: say.schemes[value] }))}
              value={typed.scheme}
              problem={problemOf('scheme')}
              onChange={(event) => set({ scheme: event.currentTarget.value })}
            />
            <TextField
              label={say.fields.port}
              inputMode="numeric"
              value={typed.port}
              problem={problemOf('port')}
              onInput={(event) => set({ port: event.currentTarget.value })}
            />
            <TextField
              label={say.fields.host_header}
              hint={say.hostHint}
              value={typed.host_header}
              problem={problemOf('host_header')}
              onInput={(event) => set({ host_header: event.currentTarget.value })}
            />
            <TextField
              label={say.fields.timeout}
              inputMode="numeric"
              value={typed.timeout}
              problem={problemOf('timeout')}
              onInput={(event) => set({ timeout: event.currentTarget.value })}
            />
            <TextField
              label={say.fields.dest_country}
              hint={say.countryHint}
              maxLength={2}
              value={typed.dest_country}
              problem={problemOf('dest_country')}
              onInput={(event) => set({ dest_country: event.currentTarget.value.toUpperCase() })}
            />
            <CheckField
              label={say.fields.captcha}
              checked={typed.captcha}
              onChange={(event) => set({ captcha: event.currentTarget.checked })}
            />
            <CheckField
              label={say.fields.monitor}
              checked={typed.monitor}
              onChange={(event) => set({ monitor: event.currentTarget.checked })}
            />
          </div>
        </details>
      )}
    </div>
  );
}
