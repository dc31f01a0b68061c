import { useState } from 'preact/hooks';
import type { Preview, PreviewedRecord } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { payloadText, type Writes } from '../common/previewed-rows.ts';
import { PreviewedWrites } from '../common/previewed-writes.tsx';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/editor.ts';
import { configBody, valueIn, type Entry } from './config-document.ts';

interface MessagePreviewProps {
  readonly entries: readonly Entry[];
  /** Whose stored secrets the document may refer to. */
  readonly connector?: string;
}

interface Shown {
  readonly kind: 'messages' | 'preview';
  readonly records: readonly PreviewedRecord[];
}

const COUNT = 10;

/** The newest messages of a topic: decoded, or as the sink would store them. */
export function MessagePreview({ entries, connector }: MessagePreviewProps) {
  const topics = (valueIn(entries, 'topics') ?? '').split(',').flatMap((topic) => topic.trim() || []);
  const [chosen, setChosen] = useState('');
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const topic = topics.length === 0 || topics.includes(chosen) ? chosen : (topics[0] ?? '');
  const load = async (kind: Shown['kind']): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      const query = new URLSearchParams(kind === 'messages' ? { decode: 'true' } : {});
      if (connector !== undefined) query.set('connector', connector);
      const className = inPath(valueIn(entries, 'connector.class') ?? '');
      const path = `/ui/connector-plugins/${className}/preview?${query.toString()}`;
      const body = { config: configBody(entries), topic, count: COUNT };
      const { records } = await request<Preview>('POST', path, body);
      setShown({ kind, records });
    } catch (error) {
      setShown(undefined);
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="preview" aria-label={texts.previewTitle}>
      <h2>{texts.previewTitle}</h2>
      <p class="quiet">{texts.previewHint}</p>
      <div class="bulk">
        <label>
          {texts.topic}{' '}
          {topics.length === 0 ? (
            <input
              type="text"
              autocomplete="off"
              value={chosen}
              onInput={({ currentTarget }) => {
                setChosen(currentTarget.value);
              }}
            />
          ) : (
            <select
              value={topic}
              onChange={({ currentTarget }) => {
                setChosen(currentTarget.value);
              }}
            >
              {topics.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          )}
        </label>
        {(['messages', 'preview'] as const).map((kind) => (
          <button key={kind} type="button" disabled={topic === '' || isBusy} onClick={() => void load(kind)}>
            {texts[kind]}
          </button>
        ))}
        <span role="status">{isBusy ? texts.loading : shown?.records.length === 0 ? texts.noMessages : ''}</span>
      </div>
      <Problem text={problem} />
      {shown === undefined || shown.records.length === 0 ? null : <Records {...shown} />}
    </section>
  );
}

function Records({ kind, records }: Shown) {
  const titles = kind === 'messages' ? texts.messageTitles : texts.recordTitles;
  return (
    <TitledTable label={texts[kind]} titles={titles}>
      {records.map(({ message, record, dropped, faults, ...becomes }) => (
        <tr key={`${String(message.partition)}:${String(message.offset)}`}>
          <td title={new Date(message.timestamp).toLocaleString()}>
            {texts.messageAt(message.partition, message.offset)}
          </td>
          {kind === 'messages' ? (
            <>
              <td class="value">{payloadText(record?.key)}</td>
              <td class="value">{payloadText(record?.value)}</td>
            </>
          ) : (
            <>
              <td class="value">{dropped ? texts.dropped : payloadText(record?.value)}</td>
              <td>
                <Becomes {...becomes} />
              </td>
            </>
          )}
          <td class="problem">
            {faults.map(({ stage, message: text }) => (
              <p key={text}>{texts.fault(stage, text ?? '')}</p>
            ))}
          </td>
        </tr>
      ))}
    </TitledTable>
  );
}

function Becomes(writes: Writes) {
  const isEmpty = [writes.rows, writes.lines, writes.statements].every((list = []) => list.length === 0);
  return isEmpty ? <span class="quiet">{texts.noPreview}</span> : <PreviewedWrites {...writes} />;
}
