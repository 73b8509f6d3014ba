//! rpc.
