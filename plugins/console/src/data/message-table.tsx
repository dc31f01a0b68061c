import { useState } from 'preact/hooks';
import type { Preview, PreviewedRecord, ShownMessage, ShownPart } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { isWritable } from '../common/fleet-store.ts';
import { PreviewedWrites } from '../common/previewed-writes.tsx';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { Problem } from '../kit/problem.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/data.ts';
import { firstOf, placeText, readable, timeText } from './message.ts';

interface MessageTableProps {
  /** Path of the API for messages of the connector. */
  readonly path: string;
  /** Whether the connector is a sink; only sinks can preview a message. */
  readonly isSink: boolean;
  readonly messages: readonly ShownMessage[];
  readonly hasTopics: boolean;
}

/** Keys are cut off at this number of characters, because their column is narrow. */
const KEY_LENGTH = 60;

/** Lists messages, one line each. The user can open a message to see all of it. */
export function MessageTable({ path, isSink, messages, hasTopics }: MessageTableProps) {
  const [open, setOpen] = useState('');
  const titles = [
    ...(hasTopics ? [texts.topic] : []),
    ...[texts.partition, texts.offset, texts.time, texts.key, texts.value, texts.headers, texts.show],
  ];
  return (
    <Table class="messages" label={texts.messages} titles={titles} numbers={[texts.partition, texts.offset]}>
      {messages.map((message) => {
        const place = placeText(message);
        const isOpen = place === open;
        return [
          <MessageRow
            key={place}
            message={message}
            hasTopic={hasTopics}
            isOpen={isOpen}
            onToggle={() => setOpen(isOpen ? '' : place)}
          />,
          isOpen ? (
            <tr key={`${place} whole`} class="whole">
              <td colSpan={titles.length}>
                <Whole path={path} isSink={isSink} message={message} />
              </td>
            </tr>
          ) : null,
        ];
      })}
    </Table>
  );
}

interface MessageRowProps {
  readonly message: ShownMessage;
  readonly hasTopic: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function MessageRow({ message, hasTopic, isOpen, onToggle }: MessageRowProps) {
  const { topic, partition, offset, timestamp, key, value, headers } = message;
  return (
    <tr class={isOpen ? 'line opened' : 'line'}>
      {hasTopic ? <td class="topic">{topic}</td> : null}
      <td class="number">{partition}</td>
      <td class="number">{offset}</td>
      <td class="nowrap time">{timestamp === null ? '–' : timeText(timestamp)}</td>
      <td class="part">
        <First part={key} length={KEY_LENGTH} />
      </td>
      <td class="part value">
        <First part={value} />
      </td>
      <td class="quiet nowrap headers">{headers.length === 0 ? '' : texts.headerCount(headers.length)}</td>
      <td class="show">
        <Button aria-expanded={isOpen} aria-label={texts.showOf(placeText(message))} onClick={onToggle}>
          {isOpen ? '▾' : '▸'}
        </Button>
      </td>
    </tr>
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
      {isSink && isWritable.value ? <MessagePreview path={path} message={message} /> : null}
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

/** Previews what the connector would currently write for a message. */
function MessagePreview({ path, message }: { readonly path: string; readonly message: ShownMessage }) {
  const [found, setFound] = useState<PreviewedRecord | undefined>();
  const { problem, run } = useAction();
  const ask = (): Promise<void> =>
    run(async () => {
      const { topic, partition, offset } = message;
      const { records } = await request<Preview>('POST', `${path}/preview`, { topic, partition, offset });
      setFound(records[0]);
    });
  return (
    <>
      <Button onClick={ask}>{texts.become}</Button>
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
      <PreviewedWrites {...writes} faults={faults} />
      {isEmpty && !dropped && faults.length === 0 ? <p>{texts.nothing}</p> : null}
    </>
  );
}
