import { useState } from 'preact/hooks';
import type { Preview, PreviewedRecord, ShownMessage, ShownPart } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { worker } from '../common/fleet-store.ts';
import { PreviewedWrites } from '../common/previewed-writes.tsx';
import { Problem } from '../common/problem.tsx';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/data.ts';
import { firstOf, placeText, readable, timeText } from './message.ts';

interface MessageTableProps {
  /** Of the requests. */
  readonly path: string;
  /** What a message would become is known of sinks alone. */
  readonly isSink: boolean;
  readonly messages: readonly ShownMessage[];
  readonly hasTopics: boolean;
}

/** A column of keys is narrow. */
const KEY_LENGTH = 60;

/** Messages, one line each; one that is opened is whole. */
export function MessageTable({ path, isSink, messages, hasTopics }: MessageTableProps) {
  const [open, setOpen] = useState('');
  const titles = [
    ...(hasTopics ? [texts.topic] : []),
    ...[texts.partition, texts.offset, texts.time, texts.key, texts.value, texts.headers, texts.show],
  ];
  return (
    <TitledTable name="messages" label={texts.messages} titles={titles} numbers={[texts.partition, texts.offset]}>
      {messages.map((message) => {
        const place = placeText(message);
        const isOpen = place === open;
        return [
          <tr key={place} class={isOpen ? 'line opened' : 'line'}>
            {hasTopics ? <td class="topic">{message.topic}</td> : null}
            <td class="number">{message.partition}</td>
            <td class="number">{message.offset}</td>
            <td class="nowrap time">{message.timestamp === null ? '–' : timeText(message.timestamp)}</td>
            <td class="part">{<First part={message.key} length={KEY_LENGTH} />}</td>
            <td class="part value">{<First part={message.value} />}</td>
            <td class="quiet nowrap headers">
              {message.headers.length === 0 ? '' : texts.headerCount(message.headers.length)}
            </td>
            <td class="show">
              <button
                type="button"
                aria-expanded={isOpen}
                aria-label={texts.showOf(place)}
                onClick={() => {
                  setOpen(isOpen ? '' : place);
                }}
              >
                {isOpen ? '▾' : '▸'}
              </button>
            </td>
          </tr>,
          isOpen ? (
            <tr key={`${place} whole`} class="whole">
              <td colSpan={titles.length}>
                <Whole path={path} isSink={isSink} message={message} />
              </td>
            </tr>
          ) : null,
        ];
      })}
    </TitledTable>
  );
}

function First({ part, length }: { readonly part: ShownPart; readonly length?: number }) {
  if (part.kind === 'null') return <i class="quiet">{texts.null}</i>;
  return (
    <>
      {part.kind === 'hex' && part.fault !== undefined ? (
        <strong class="problem">{texts.undecodedShort} </strong>
      ) : null}
      <code>{firstOf(part, length)}</code>
    </>
  );
}

interface WholeProps extends Pick<MessageTableProps, 'path' | 'isSink'> {
  readonly message: ShownMessage;
}

function Whole({ path, isSink, message }: WholeProps) {
  return (
    <div class="message">
      <p class="quiet">
        {placeText(message)} · {texts.bytes(message.bytes)} · {texts.timestampType(message.timestampType)}
      </p>
      <PartView title={texts.key} part={message.key} />
      <PartView title={texts.value} part={message.value} />
      {message.headers.map(({ key, value }, index) => (
        <PartView key={index} title={key} part={value} />
      ))}
      {isSink && worker.value?.readOnly === false ? <MessagePreview path={path} message={message} /> : null}
    </div>
  );
}

function PartView({ title, part }: { readonly title: string; readonly part: ShownPart }) {
  if (part.kind === 'null') {
    return (
      <p>
        <strong>{title}</strong> <i class="quiet">{texts.null}</i>
      </p>
    );
  }
  return (
    <div class="message-part">
      <div class="bulk">
        <strong>{title}</strong>
        <CopyButton text={part.text} />
      </div>
      {part.kind === 'hex' && part.fault !== undefined ? <p class="problem">{texts.undecoded(part.fault)}</p> : null}
      <pre tabIndex={0}>{readable(part)}</pre>
      {part.kind !== 'hex' && part.cut !== undefined ? (
        <p class="quiet">{texts.cut(part.text.length, part.cut)}</p>
      ) : null}
      {part.kind === 'hex' && part.bytes > part.text.length / 2 ? (
        <p class="quiet">{texts.cutBytes(part.text.length / 2, part.bytes)}</p>
      ) : null}
    </div>
  );
}

/** What the connector would write for it now. */
function MessagePreview({ path, message }: { readonly path: string; readonly message: ShownMessage }) {
  const [found, setFound] = useState<PreviewedRecord | undefined>();
  const [problem, setProblem] = useState('');
  const ask = async (): Promise<void> => {
    const { topic, partition, offset } = message;
    try {
      const body = { topic, partition, offset };
      const { records } = await request<Preview>('POST', `${path}/preview`, body);
      setFound(records[0]);
      setProblem('');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void ask()}>
        {texts.become}
      </button>
      <Problem text={problem} />
      <div role="status">{found === undefined ? null : <PreviewView found={found} />}</div>
    </>
  );
}

function PreviewView({ found }: { readonly found: PreviewedRecord }) {
  const { faults, dropped, rows, lines, statements } = found;
  const writes = { rows, lines, statements };
  const isEmpty = [writes.rows, writes.lines, writes.statements].every((list = []) => list.length === 0);
  return (
    <>
      {faults.map(({ stage, message }, index) => (
        <p key={index} class="problem">{`${stage}: ${message ?? ''}`}</p>
      ))}
      {dropped ? <p>{texts.dropped}</p> : null}
      <PreviewedWrites {...writes} />
      {isEmpty && !dropped && faults.length === 0 ? <p>{texts.nothing}</p> : null}
    </>
  );
}
