// Downloads the records as a zone file.

import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { records } from '../../words/records.ts';

export function ExportButton({ domain }: { readonly domain: string }) {
  const download = useAction(async () => {
    const path = { domain };
    const text: unknown = await dataOf(
      api.GET('/domains/{domain}/records/export', { params: { path }, parseAs: 'text' }),
    );
    saveText(String(text), `${domain}.zone`);
  });
  return (
    <Button
      kind="bare"
      isBusy={download.isBusy}
      onClick={async () => {
        if (!(await download.run())) toast(records.exportFailed, 'bad');
      }}
    >
      {records.export}
    </Button>
  );
}

function saveText(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
