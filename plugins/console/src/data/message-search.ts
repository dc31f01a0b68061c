import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessagePage } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { texts } from '../texts/data.ts';
import { useLiveTail, type LiveTail } from './live-tail.ts';
import { NO_FIELDS, queryOf, withNewer, type Fields } from './message.ts';

export interface Search {
  readonly fields: Fields;
  /** The newest first. */
  readonly pages: readonly MessagePage[];
  /** Whether messages are missing between two pages, because they arrived faster than they were read. */
  readonly hasGap: boolean;
}

interface MessageSearch {
  readonly search: Search;
  readonly isBusy: boolean;
  /** The error of the last request; empty if it succeeded. */
  readonly problem: string;
  readonly live: LiveTail;
  /** Replaces the search by a new one. */
  readonly find: (fields: Fields) => Promise<void>;
  readonly findOlder: () => Promise<void>;
  /** Starts a new search, and adds the messages that arrive from then on. The fields must not have upper bounds. */
  readonly follow: (fields: Fields) => Promise<void>;
}

const NO_SEARCH: Search = { fields: NO_FIELDS, pages: [], hasGap: false };
/** The live view ends when this number of messages is shown. */
const MAX_LIVE = 1000;

/** `path`: the path of the API for messages of the connector. */
export function useMessageSearch(path: string): MessageSearch {
  const [search, setSearch] = useState(NO_SEARCH);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  /** Increases with each new search, so that pages of earlier ones are ignored. */
  const round = useRef(0);
  useEffect(
    () => () => {
      round.current += 1;
    },
    [path],
  );

  /** Requests a page and adds it to the search. Resolves to whether it was added. */
  const load = async (query: object | undefined, added: (last: Search, page: MessagePage) => Search) => {
    const number = round.current;
    setProblem(query === undefined ? texts.badOffset : '');
    if (query === undefined) return false;
    try {
      const page = await request<MessagePage>('POST', path, query);
      if (number === round.current) setSearch((last) => added(last, page));
      return number === round.current;
    } catch (error) {
      if (number === round.current) setProblem((error as Error).message);
      return false;
    }
  };

  const loadNewer = async (): Promise<string | undefined> => {
    const shown = search.pages.reduce((sum, { messages }) => sum + messages.length, 0);
    if (shown >= MAX_LIVE) return texts.liveFull(MAX_LIVE);
    const isAdded = await load(queryOf(search.fields, { after: search.pages[0]?.ends }), (last, page) => ({
      ...last,
      pages: withNewer(last.pages, page),
      hasGap: last.hasGap || page.next.length > 0,
    }));
    return isAdded ? undefined : texts.liveFailed;
  };
  const live = useLiveTail(loadNewer);

  const busily = async (work: Promise<boolean>): Promise<boolean> => {
    const number = round.current;
    setBusy(true);
    const isDone = await work;
    if (number === round.current) setBusy(false);
    return isDone;
  };
  const start = (fields: Fields): Promise<boolean> => {
    round.current += 1;
    live.stop();
    return busily(load(queryOf(fields), (_last, page) => ({ ...NO_SEARCH, fields, pages: [page] })));
  };
  return {
    ...{ search, isBusy, problem, live },
    find: async (fields) => {
      await start(fields);
    },
    findOlder: async () => {
      const query = queryOf(search.fields, { before: search.pages.at(-1)?.next });
      await busily(load(query, (last, page) => ({ ...last, pages: [...last.pages, page] })));
    },
    follow: async (fields) => {
      if (await start(fields)) live.start();
    },
  };
}
