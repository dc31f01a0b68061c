import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ConsoleValidation } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import {
  configBody,
  documentText,
  parseDocument,
  valueIn,
  type Entry,
  type ParsedDocument,
} from './config-document.ts';

/** The edited document as entries and, while it is shown as JSON, also as text. */
export interface EditedDocument {
  /** The entries of the form; while the document is shown as JSON, the entries of the last valid text. */
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  /** Increases whenever the text is changed by something other than typing. */
  readonly revision: number;
  /** The parsed text; `undefined` while the document is shown as a form. */
  readonly parsed: ParsedDocument | undefined;
  /** Whether the text has problems. */
  readonly isWrong: boolean;
  readonly change: (entries: readonly Entry[]) => void;
  readonly type: (text: string) => void;
  readonly showJson: () => void;
  /** Switches to the form. Must only be called while the text is valid. */
  readonly showForm: () => void;
}

interface State {
  readonly entries: readonly Entry[];
  readonly text: string | undefined;
  readonly revision: number;
}

/** The state of an edited document. `shown`: the initial JSON text; if absent, the document is shown as a form. */
export function useDocument(initial: readonly Entry[], shown?: string): EditedDocument {
  const [{ entries, text, revision }, setState] = useState<State>({ entries: initial, text: shown, revision: 0 });
  const parsed = useMemo(() => (text === undefined ? undefined : parseDocument(text)), [text]);
  return {
    entries,
    text,
    revision,
    parsed,
    isWrong: parsed !== undefined && parsed.problems.length > 0,
    change: (next) => {
      setState((last) => ({
        entries: next,
        text: last.text === undefined ? undefined : documentText(next),
        revision: last.revision + 1,
      }));
    },
    type: (next) => {
      const { entries: found, problems } = parseDocument(next);
      setState((last) => ({ ...last, entries: problems.length === 0 ? found : last.entries, text: next }));
    },
    showJson: () => {
      setState((last) => ({ ...last, text: documentText(last.entries), revision: last.revision + 1 }));
    },
    showForm: () => {
      setState((last) => ({ ...last, text: undefined }));
    },
  };
}

/** The result of the worker's validation. */
export interface Checked {
  /** The last result; `undefined` before the first one. */
  readonly validation: ConsoleValidation | undefined;
  /** The reason why the current document could not be validated; empty if it could. */
  readonly problem: string;
  /** Whether `validation` belongs to an earlier state of the document. */
  readonly isStale: boolean;
}

const PAUSE_MS = 300;
/** A validation may have to wait for a database. The next validation waits at most this many milliseconds for the running one. */
const WAIT_MS = 5000;
const NOTHING: Checked = { validation: undefined, problem: '', isStale: true };

/** Validates the document after each change, once the user has paused. `connector`: the connector whose stored secrets are used. */
export function useValidation(entries: readonly Entry[], connector: string | undefined): Checked {
  const [checked, setChecked] = useState<Checked & { readonly key: string }>({ ...NOTHING, key: '' });
  const running = useRef<Promise<unknown>>(Promise.resolve());
  const className = valueIn(entries, 'connector.class') ?? '';
  const key = JSON.stringify(entries);
  useEffect(() => {
    if (className === '') return;
    let isCurrent = true;
    const check = async (): Promise<void> => {
      await Promise.race([running.current, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
      if (!isCurrent) return;
      const query = connector === undefined ? '' : `?connector=${inPath(connector)}`;
      const path = `/ui/connector-plugins/${inPath(className)}/validate${query}`;
      const asked = request<ConsoleValidation>('PUT', path, configBody(entries));
      running.current = asked.catch(() => undefined);
      try {
        const validation = await asked;
        if (isCurrent) setChecked({ validation, problem: '', isStale: false, key });
      } catch (error) {
        if (isCurrent) setChecked((last) => ({ ...last, problem: (error as Error).message, isStale: true, key }));
      }
    };
    const timer = setTimeout(() => void check(), PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key, connector]);
  return checked.key === key ? checked : { ...checked, problem: '', isStale: true };
}
