import { useState } from 'preact/hooks';
import type { Preview, PreviewedRecord } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { payloadText } from '../common/previewed-rows.ts';
import { dateTime } from '../common/time.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Problem } from '../kit/problem.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/editor.ts';
import { configBody, topicsIn, valueIn, type Entry } from './config-document.ts';
import { PreviewedRecords } from './previewed-records.tsx';

interface MessagePreviewProps {
  readonly entries: readonly Entry[];
  /** The connector whose stored secrets replace the placeholders in the document; absent for a new connector. */
  readonly connector?: string;
}

interface Shown {
  readonly kind: 'messages' | 'preview';
  readonly records: readonly PreviewedRecord[];
}

const COUNT = 10;
/** Longer values are cut off at this number of characters until the user opens them. */
const SHORT = 200;

/** Previews the newest messages of a topic, either decoded or as the sink would store them. */
export function MessagePreview({ entries, connector }: MessagePreviewProps) {
  const topics = topicsIn(entries);
  const [chosen, setChosen] = useState('');
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const { isBusy, problem, run } = useAction();
  const topic = topics.length === 0 || topics.includes(chosen) ? chosen : (topics[0] ?? '');
  const load = (kind: Shown['kind']): Promise<void> =>
    run(async () => {
      setShown(undefined);
      const query = new URLSearchParams(kind === 'messages' ? { decode: 'true' } : {});
      if (connector !== undefined) query.set('connector', connector);
      const className = inPath(valueIn(entries, 'connector.class') ?? '');
      const path = `/ui/connector-plugins/${className}/preview?${query.toString()}`;
      const body = { config: configBody(entries), topic, count: COUNT };
      const { records } = await request<Preview>('POST', path, body);
      setShown({ kind, records });
    });
  return (
    <section class="preview" aria-label={texts.previewTitle}>
      <h2>{texts.previewTitle}</h2>
      <p class="quiet">{texts.previewHint}</p>
      <div class="bulk">
        {topics.length === 0 ? (
          <TextField label={texts.topic} autocomplete="off" value={chosen} onInput={setChosen} />
        ) : (
          <SelectField label={texts.topic} value={topic} options={topics} onChange={setChosen} />
        )}
        {(['messages', 'preview'] as const).map((kind) => (
          <Button key={kind} disabled={topic === '' || isBusy} onClick={() => load(kind)}>
            {texts[kind]}
          </Button>
        ))}
        <span role="status">{isBusy ? texts.loading : shown?.records.length === 0 ? texts.noMessages : ''}</span>
      </div>
      <Problem text={problem} />
      {shown === undefined || shown.records.length === 0 ? null : <Outcome {...shown} />}
    </section>
  );
}

function Outcome({ kind, records }: Shown) {
  return kind === 'messages' ? <Messages records={records} /> : <PreviewedRecords records={records} />;
}

/** The messages as the converters read them, those with faults first. */
function Messages({ records }: Pick<Shown, 'records'>) {
  return (
    <Table label={texts.messages} titles={texts.messageTitles}>
      {faultsFirst(records).map(({ message, record, faults }) => (
        <tr key={texts.messageAt(message.partition, message.offset)}>
          <td title={dateTime(message.timestamp)}>{texts.messageAt(message.partition, message.offset)}</td>
          <Value text={payloadText(record?.key)} />
          <Value text={payloadText(record?.value)} />
          <td class="problem">
            {faults.map(({ stage, message: text }) => (
              <p key={text}>{texts.fault(stage, text ?? '')}</p>
            ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Shows a short value, or the beginning of a long one with a way to show the rest. */
function Value({ text }: { readonly text: string }) {
  if (text.length <= SHORT) return <td class="value">{text}</td>;
  return (
    <td class="value">
      <details>
        <summary>{text.slice(0, SHORT)}…</summary>
        {text}
      </details>
    </td>
  );
}

function faultsFirst(records: readonly PreviewedRecord[]): readonly PreviewedRecord[] {
  return [...records].sort((a, b) => Number(b.faults.length > 0) - Number(a.faults.length > 0));
}
