// A new key for certificates, with the configuration of a client. It is shown only once.

import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { person } from '../../app/session.ts';
import { CopyButton } from '../../parts/button.tsx';
import { SelectField } from '../../parts/field.tsx';
import { account } from '../../words/account.ts';
import { ACME_TOOLS, type AcmeTool, acmeConfig } from './acme-config.ts';

export interface ShownAcmeKey {
  readonly key: Schemas['Key'];
  /** Names in the certificate. */
  readonly names: readonly string[];
}

const text = account.keys.acme;

export function AcmeConfig({
  secret,
  names,
}: {
  readonly secret: string;
  readonly names: readonly string[];
}) {
  const [tool, setTool] = useState<AcmeTool>('lego');
  const asked = { api: location.origin, key: secret, names, email: person().email };
  return (
    <div class="stack">
      <div class="account-narrow">
        <SelectField
          label={text.tool}
          hint={text.tools[tool]}
          value={tool}
          onChange={(event) => setTool(event.currentTarget.value as AcmeTool)}
          choices={ACME_TOOLS.map((value) => ({ value, label: text.toolNames[value] }))}
        />
      </div>
      {acmeConfig(tool, asked).map(({ file, text: lines }) => (
        <div key={file ?? lines}>
          <div class="row spread">
            <strong>{file === undefined ? text.run : text.file(file)}</strong>
            <CopyButton text={lines} label={file ?? text.run} />
          </div>
          <pre class="account-lines" dir="ltr">
            {lines.trimEnd()}
          </pre>
        </div>
      ))}
      <p class="quiet">{text.missing}</p>
    </div>
  );
}
