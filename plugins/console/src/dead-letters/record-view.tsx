import { useState } from 'preact/hooks';
import type { WholeDeadLetter } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { payloadText } from '../common/previewed-rows.ts';
import { dateTime } from '../common/time.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/dead-letters.ts';
import { faultText, hexDump } from './dead-letter-record.ts';

interface RecordViewProps {
  readonly name: string;
  readonly deadLetter: WholeDeadLetter;
}

/** Shows one dead-letter record: the fault, the decoded record, its bytes and its headers. */
export function RecordView({ name, deadLetter: given }: RecordViewProps) {
  const [whole, setWhole] = useState<WholeDeadLetter | undefined>();
  const deadLetter = whole ?? given;
  const { partition, offset, timestamp, origin, attempt, replay, fault, record } = deadLetter;
  return (
    <article class="dead-letter">
      <p class="quiet">{texts.recordAt(partition, offset, dateTime(timestamp))}</p>
      {origin === undefined ? null : <p class="quiet">{texts.origin(origin.topic, origin.partition, origin.offset)}</p>}
      <p>
        {faultText(fault)} {attempt === 0 ? null : <em>({texts.attempt(attempt)})</em>}{' '}
        {replay === undefined ? null : <em>({texts.replayedIn(replay)})</em>}
      </p>
      <Payload title={texts.key} value={record?.key} />
      <Payload title={texts.value} value={record?.value} />
      <details>
        <summary>{texts.record}</summary>
        <pre tabIndex={0}>{JSON.stringify(record, null, 2)}</pre>
      </details>
      <BytesOf deadLetter={deadLetter} load={async () => setWhole(await recordAt(name, partition, offset))} />
    </article>
  );
}

interface BytesOfProps {
  readonly deadLetter: WholeDeadLetter;
  /** Loads the whole record, with all bytes. */
  readonly load: () => Promise<void>;
}

function BytesOf({ deadLetter: { keyHex, keyBytes, valueHex, valueBytes, headers }, load }: BytesOfProps) {
  const { problem, run } = useAction();
  return (
    <details>
      <summary>{texts.bytes}</summary>
      <Bytes title={texts.key} hex={keyHex} bytes={keyBytes} />
      <Bytes title={texts.value} hex={valueHex} bytes={valueBytes} />
      {headers.length === 0 ? null : (
        <>
          <p class="quiet">{texts.headers}</p>
          <pre tabIndex={0}>{headers.map(({ key, value }) => `${key}: ${value ?? texts.null}`).join('\n')}</pre>
        </>
      )}
      <Problem text={problem} />
      {valueBytes === undefined ? <Button onClick={() => run(load)}>{texts.whole}</Button> : null}
    </details>
  );
}

export async function recordAt(name: string, partition: number, offset: number): Promise<WholeDeadLetter> {
  return request('GET', `/ui${connectorPath(name)}/dead-letters/${String(partition)}/${String(offset)}`);
}

function Payload({ title, value }: { readonly title: string; readonly value: unknown }) {
  const text = payloadText(value);
  return text === '' ? null : (
    <>
      <p class="quiet">{title}</p>
      <pre tabIndex={0}>{text}</pre>
    </>
  );
}

interface BytesProps {
  readonly title: string;
  readonly hex: string | null;
  readonly bytes: number | null | undefined;
}

function Bytes({ title, hex, bytes }: BytesProps) {
  const shown = (hex?.length ?? 0) / 2;
  const isPart = bytes !== undefined && bytes !== null && bytes > shown;
  return (
    <>
      <p class="quiet">
        {title} {isPart ? `(${texts.firstBytes(shown, bytes)})` : ''}
      </p>
      <pre tabIndex={0}>{hex === null ? texts.null : hexDump(hex)}</pre>
    </>
  );
}
