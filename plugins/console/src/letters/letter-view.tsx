import { useState } from 'preact/hooks';
import type { WholeLetter } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { Problem } from '../common/problem.tsx';
import { payloadText } from '../common/previewed-rows.ts';
import { texts } from '../texts/letters.ts';
import { faultText, hexDump } from './letter.ts';

interface LetterViewProps {
  readonly name: string;
  readonly letter: WholeLetter;
}

/** One letter: its fault, the record, its bytes and headers. */
export function LetterView({ name, letter: given }: LetterViewProps) {
  const [whole, setWhole] = useState<WholeLetter | undefined>();
  const [problem, setProblem] = useState('');
  const letter = whole ?? given;
  const { partition, offset, timestamp, origin, attempt, replay, fault } = letter;
  const load = (): void => {
    letterAt(name, partition, offset).then(setWhole, (error: unknown) => {
      setProblem((error as Error).message);
    });
  };
  return (
    <article class="letter">
      <p class="quiet">{texts.letterAt(partition, offset, new Date(timestamp).toLocaleString())}</p>
      {origin === undefined ? null : <p class="quiet">{texts.origin(origin.topic, origin.partition, origin.offset)}</p>}
      <p>
        {faultText(fault)} {attempt === 0 ? null : <em>({texts.attempt(attempt)})</em>}{' '}
        {replay === undefined ? null : <em>({texts.replayedIn(replay)})</em>}
      </p>
      <Payload title={texts.key} value={letter.record?.key} />
      <Payload title={texts.value} value={letter.record?.value} />
      <details>
        <summary>{texts.record}</summary>
        <pre tabIndex={0}>{JSON.stringify(letter.record, null, 2)}</pre>
      </details>
      <details>
        <summary>{texts.bytes}</summary>
        <Bytes title={texts.key} hex={letter.keyHex} bytes={letter.keyBytes} />
        <Bytes title={texts.value} hex={letter.valueHex} bytes={letter.valueBytes} />
        {letter.headers.length === 0 ? null : (
          <>
            <p class="quiet">{texts.headers}</p>
            <pre tabIndex={0}>
              {letter.headers.map(({ key, value }) => `${key}: ${value ?? texts.null}`).join('\n')}
            </pre>
          </>
        )}
        <Problem text={problem} />
        {letter.valueBytes === undefined ? (
          <button type="button" onClick={load}>
            {texts.whole}
          </button>
        ) : null}
      </details>
    </article>
  );
}

export async function letterAt(name: string, partition: number, offset: number): Promise<WholeLetter> {
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
