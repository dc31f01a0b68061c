import type { Draw } from '../../support/random.ts';
import type { TableModel } from './table-model.ts';

/** Where a record will be in its topic. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record and what the documents say about it. */
export interface PlannedRecord {
  readonly key: string | null;
  readonly value: string | null;
  readonly timestamp: number;
  /**
   * Does to the tables of the model what the sink does with the record. Returns whether the record is refused. With
   * `isTolerant` (`errors.tolerance=all`) the other rows of the record are stored, otherwise none of them.
   */
  readonly apply: (isTolerant: boolean) => boolean;
}

/** Properties of a seed that its subject depends on. */
export interface SinkPlace {
  /** Begins the names of tables; the name of the topic, too. */
  readonly name: string;
  readonly database: string;
  readonly engine: Engine;
  readonly partitions: number;
  readonly isTolerant: boolean;
  /** Records may be delivered again: only what has the same result twice. */
  readonly isRepeated: boolean;
}

export type Engine = 'unmarked' | 'time-series' | 'relational';

/** Records of one format, with the options of the sink and the tables that result. */
export interface SinkSubject {
  readonly format: string;
  readonly options: Readonly<Record<string, string>>;
  /** SQL that runs before the connector is created. */
  readonly setUp: readonly string[];
  readonly tables: readonly TableModel[];
  /** Called before the records of a step are drawn; the steps are numbered from 0. */
  readonly beginStep: (step: number) => void;
  /** Draws a record of this partition; `isBad` asks for one that is refused, if there is a kind of it at this time. */
  readonly draw: (draw: Draw, place: Place, isBad: boolean) => PlannedRecord;
}

export type SubjectFactory = (draw: Draw, place: SinkPlace) => SinkSubject;
