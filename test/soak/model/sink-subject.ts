import type { Draw } from '../../support/random.ts';
import type { TableModel } from './table-model.ts';

/** The partition and offset that a record will have. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A record, and its effect according to the documents. */
export interface PlannedRecord {
  readonly key: string | null;
  readonly value: string | null;
  readonly timestamp: number;
  /**
   * Applies the record to the tables of the model, as the sink should. Returns true if the record is refused. With
   * `isTolerant` (`errors.tolerance=all`), its other rows are stored; otherwise, none of them.
   */
  readonly apply: (isTolerant: boolean) => boolean;
}

/** Properties of a seed on which its subject depends. */
export interface SinkPlace {
  /** Name of the topic, and prefix of the names of tables. */
  readonly name: string;
  readonly database: string;
  readonly engine: Engine;
  readonly partitions: number;
  readonly isTolerant: boolean;
  /** True if records may be delivered again, so that each must have the same result twice. */
  readonly isRepeated: boolean;
}

export type Engine = 'unmarked' | 'time-series' | 'relational';

/** Records of one format, with the options of the sink and the resulting tables. */
export interface SinkSubject {
  readonly format: string;
  readonly options: Readonly<Record<string, string>>;
  /** SQL that runs before the connector is created. */
  readonly setUp: readonly string[];
  readonly tables: readonly TableModel[];
  /** Called before the records of a step are drawn; the steps are numbered from 0. */
  readonly beginStep: (step: number) => void;
  /**
   * Draws a record for this partition. With `isBad`, it is one that is refused, if such a record is possible at this
   * time.
   */
  readonly draw: (draw: Draw, place: Place, isBad: boolean) => PlannedRecord;
}

export type SubjectFactory = (draw: Draw, place: SinkPlace) => SinkSubject;
