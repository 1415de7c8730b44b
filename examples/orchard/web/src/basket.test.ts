import { total } from "./basket";

if (total([{ box: 1, cents: 1250 }, { box: 2, cents: 800 }]) !== 2050) throw new Error("total");
