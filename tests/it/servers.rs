//! Real servers side by side: how soon each tells of mail, and what rings after all that happens to them. The figures
//! are printed as a table; what is asserted is that each mail rings once.

mod dovecot;
mod others;
mod row;
